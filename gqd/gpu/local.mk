# gqd/gpu - sees: the cards through NVML, sampled by a worker process
noinst_LIBRARIES += libgpu.a
libgpu_a_SOURCES = %reldir%/gpu.h %reldir%/gpu.c %reldir%/record.h %reldir%/edge.h %reldir%/edge.c \
	%reldir%/xid.def %reldir%/worker.h %reldir%/worker.c

pkglibexec_PROGRAMS += gq-sampler
gq_sampler_SOURCES = %reldir%/sampler.c %reldir%/nvml.h %reldir%/nvml.c %reldir%/record.h
gq_sampler_LDADD = libbase.a -ldl -lm

UNIT_TESTS += tests/unit/test_gpu_edges tests/unit/test_sampler
tests_unit_test_gpu_edges_SOURCES = tests/unit/test_gpu_edges.c
tests_unit_test_gpu_edges_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) -I$(top_srcdir)/gqd
tests_unit_test_gpu_edges_LDADD = libgpu.a libbase.a $(CMOCKA_LIBS) -lm
tests_unit_test_sampler_SOURCES = tests/unit/test_sampler.c
tests_unit_test_sampler_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) -I$(top_srcdir)/gqd
tests_unit_test_sampler_LDADD = libgpu.a libbase.a $(CMOCKA_LIBS) -lm
EXTRA_tests_unit_test_sampler_DEPENDENCIES = gq-sampler gq-simgpu $(simgpu_links)
