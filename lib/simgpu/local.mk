# lib/simgpu - the simulated NVIDIA driver: two libraries with the real names, and its tool
# In the build tree lib/simgpu/ itself can be put into LD_LIBRARY_PATH; installed, $(pkglibdir)/simgpu.
simgpudir = $(pkglibdir)/simgpu
simgpu_LTLIBRARIES = %reldir%/libnvidia-ml.la %reldir%/libcuda.la
noinst_LTLIBRARIES += libsim.la
noinst_HEADERS += lib/nvabi/nvml.h lib/nvabi/nvml_error.def lib/nvabi/cuda.h lib/nvabi/cuda_error.def
EXTRA_DIST += %reldir%/simgpu.md

libsim_la_SOURCES = %reldir%/sim.h %reldir%/sim.c %reldir%/sim_proc.c
libsim_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# never unloaded: closing its descriptor would drop the locks by which the process is known
simgpu_ldflags = $(AM_LDFLAGS) -version-info 1:0:0 -Wl,-z,nodelete
%canon_reldir%_libnvidia_ml_la_SOURCES = %reldir%/nvml_sim.h %reldir%/nvml_system.c \
	%reldir%/nvml_device.c %reldir%/nvml_process.c %reldir%/nvml_event.c
%canon_reldir%_libnvidia_ml_la_LDFLAGS = $(simgpu_ldflags) \
	-export-symbols-regex '^(nvml|gq_simgpu_version)'
%canon_reldir%_libnvidia_ml_la_LIBADD = libsim.la
%canon_reldir%_libcuda_la_SOURCES = %reldir%/cuda_sim.h %reldir%/cuda_init.c \
	%reldir%/cuda_device.c %reldir%/cuda_memory.c %reldir%/cuda_helper.c %reldir%/cuda_checkpoint.c
%canon_reldir%_libcuda_la_LDFLAGS = $(simgpu_ldflags) -export-symbols-regex '^cu[A-Z]'
%canon_reldir%_libcuda_la_LIBADD = libsim.la

simgpu_links = %reldir%/libnvidia-ml.so.1 %reldir%/libcuda.so.1
noinst_DATA += $(simgpu_links)
CLEANFILES += $(simgpu_links)
%reldir%/libnvidia-ml.so.1: %reldir%/libnvidia-ml.la
	$(AM_V_GEN)ln -sf .libs/libnvidia-ml.so.1 $@ && touch $@
%reldir%/libcuda.so.1: %reldir%/libcuda.la
	$(AM_V_GEN)ln -sf .libs/libcuda.so.1 $@ && touch $@

bin_PROGRAMS += gq-simgpu
gq_simgpu_SOURCES = %reldir%/tool.h %reldir%/tool.c %reldir%/tool_machine.c %reldir%/tool_steer.c
gq_simgpu_LDADD = libsim.la libbase.a -lm

UNIT_TESTS += tests/unit/test_simgpu
tests_unit_test_simgpu_SOURCES = tests/unit/test_simgpu.c
tests_unit_test_simgpu_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_simgpu_LDADD = libbase.a $(CMOCKA_LIBS) -ldl -lm
EXTRA_tests_unit_test_simgpu_DEPENDENCIES = $(simgpu_links) gq-simgpu

check_PROGRAMS += tests/lib/cuda-do
tests_lib_cuda_do_SOURCES = tests/lib/cuda_do.c
tests_lib_cuda_do_LDADD = -ldl
