# gqd - the daemon
include gqd/core/local.mk
include gqd/store/local.mk
include gqd/exec/local.mk
include gqd/shim/local.mk
include gqd/gpu/local.mk
include gqd/api/local.mk
