# The path of the cache; sourced, never run.
cache=${LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:?LAB_CACHE, XDG_CACHE_HOME or HOME must be set}/.cache}/dayone-lab}
