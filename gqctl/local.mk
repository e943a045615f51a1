# gqctl
