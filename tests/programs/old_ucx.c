/* old_ucx: a libucp.so.0 of a version that is too old, and of which nothing else is asked. */
void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release)
{
    *major = 1;
    *minor = 12;
    *release = 1;
}
