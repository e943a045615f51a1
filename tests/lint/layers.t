#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# layers.t - who may include whom; a room that must talk to another does it through gqd/daemon.c
use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;

my $top = $ENV{GQ_TOP} // dirname(__FILE__) . '/../..';
chdir $top or BAIL_OUT("no sources at $top");

# Which room a file belongs to: the first that matches.
my @rooms = (
	[ qr{^lib/([a-z]+)/}                     => sub { $1 } ],
	[ qr{^gqd/(core|store|exec|shim|gpu|watch)/} => sub { $1 } ],
	[ qr{^gqd/api/}                          => sub { 'server' } ],
	[ qr{^gqd/loop}                          => sub { 'loop' } ],
	[ qr{^gqd/}                              => sub { 'daemon' } ],
	[ qr{^(checkpoint|gqsub|gqctl|tests|examples)/} => sub { $1 } ],
);

# What a room may include: rooms, or single files of one. Every room may include itself.
my %may = (
	base       => [],
	job        => [qw(base)],
	conf       => [qw(base)],
	gq         => [qw(base)],
	nvabi      => [qw(base)],
	simgpu     => [qw(base nvabi)],
	loop       => [qw(base)],
	api        => [qw(base job)],
	client     => [qw(base job api)],
	gqsub      => [qw(base job api client)],
	gqctl      => [qw(base job api client)],
	core       => [qw(base job)],
	store      => [qw(base gqd/core/event.h gqd/core/rows.h gqd/core/job_state.def gqd/core/reason.def)],
	exec       => [qw(base gqd/shim/launch.h gqd/shim/link.h)], # what goes over the wire
	gpu        => [qw(base nvabi)],
	watch      => [qw(base)],
	checkpoint => [qw(base)],
	shim       => [qw(base checkpoint)],
	server     => [qw(base job api loop gqd/core/core.h gqd/core/event.h gqd/core/rows.h)],
	daemon     => [qw(*)],
	tests      => [qw(*)],
	examples   => [qw(gq nvabi)],
);

# Libraries from outside, each behind at most so many files, and in which rooms those may be.
my %behind = (
	'event2/'     => [2, qw(loop server)],
	'libconfig.h' => [2, qw(conf)],
	'zstd.h'      => [2, qw(checkpoint)],
	'jansson.h'   => [3, qw(job server)], # server: a tree is parsed once, then handed to lib/job
	'sqlite3.h'   => [3, qw(store)], # the inner headers of one room
	'curses.h'    => [2, qw(gqctl)],
	'nccl.h'      => [2, qw(gq)],
);

sub room_of {
	my ($file) = @_;
	for my $r (@rooms) {
		return $r->[1]->() if $file =~ $r->[0];
	}
	return undef;
}

# The file that the compiler finds for a quoted include: beside the includer, or under an -I.
sub resolve {
	my ($from, $name) = @_;
	for my $dir (dirname($from), '.', 'lib', 'gqd') {
		my $path = "$dir/$name";
		1 while $path =~ s{(^|/)(?!\.\.)[^/]+/\.\./}{$1};
		$path =~ s{(^|/)\./}{$1}g;
		return $path if -f $path;
	}
	return undef;
}

my @files = split /\n/, `tests/lib/sources '*.c' '*.h'`;
my (%user, @lost, @crossed);
for my $file (@files) {
	my $room = room_of($file);
	push @lost, $file and next unless defined $room && $may{$room};
	open my $in, '<', $file or next;
	while (<$in>) {
		if (/^\s*#\s*include\s+<([^>]+)>/) {
			for my $lib (grep { index($1, $_) == 0 } keys %behind) {
				$user{$lib}{$file} = $room;
			}
		} elsif (/^\s*#\s*include\s+"([^"]+)"/) {
			my $target = resolve($file, $1) // next; # generated: lies in the build directory
			my $theirs = room_of($target) // '';
			next if $theirs eq $room || grep { $_ eq $theirs || $_ eq $target || $_ eq '*' } @{ $may{$room} };
			push @crossed, "$file:$.: $room may not include $target";
		}
	}
}

is(join("\n", @lost), '', 'every source file lies in a room');
is(join("\n", @crossed), '', 'every include follows an arrow');
for my $lib (sort keys %behind) {
	my ($most, @homes) = @{ $behind{$lib} };
	my @in = grep { $user{$lib}{$_} ne 'tests' } sort keys %{ $user{$lib} // {} };
	cmp_ok(scalar @in, '<=', $most, "<$lib> is in at most $most files") or diag("@in");
	my @wrong = grep { my $f = $_; !grep { $_ eq $user{$lib}{$f} } @homes } @in;
	is("@wrong", '', "<$lib> stays in: @homes");
}
done_testing();
