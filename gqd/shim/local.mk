# gqd/shim
