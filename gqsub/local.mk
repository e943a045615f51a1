# gqsub
