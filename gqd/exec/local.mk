# gqd/exec
