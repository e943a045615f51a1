# lib/job
