// The commit that the programs were built from. It is in C, because then another commit compiles one file, and nothing
// that imports it.
extern const char *const merganser_commit;
