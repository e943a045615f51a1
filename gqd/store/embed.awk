# SPDX-License-Identifier: MIT
# embed.awk - turns schema.sql and migrations/NNNN-what.sql into C text for schema.c
# Usage: awk -f embed.awk schema.sql migrations/*.sql > schema_sql.h
function quote(line) {
	gsub(/\\/, "\\\\", line)
	gsub(/"/, "\\\"", line)
	gsub(/\t/, "\\t", line)
	return "\t\"" line "\\n\""
}
FNR == 1 {
	n = split(FILENAME, part, "/")
	if (NR == 1)
		print "static const char schema_sql[] ="
	else {
		to = part[n]
		sub(/-.*/, "", to)
		sub(/^0+/, "", to)
		printf ";\nstatic const char migration_%d[] =\n", to
		table = table "\t{" to ", migration_" to "},\n"
	}
}
{ print quote($0) }
END {
	print ";\n"
	print "static const struct migration schema_migrations[] = {"
	printf "%s", table
	print "\t{0, NULL}};"
}
