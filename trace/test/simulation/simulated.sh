# shellcheck shell=bash
# mpix_preload or mpix_trace, FOLDER: copies it there, with the simulated clocks in its back, which the launcher takes
# from beside it.
copy_simulated() {
    local front
    front=$(compgen -G "bin/.libs/libmpix_interpose-*.so") && mkdir "$2/.libs" &&
        cp "bin/$1" "$2" && cp "$front" "$2/.libs" &&
        cp trace/test/simulation/.libs/interpose_simulated.so "$2/.libs/interpose-${front##*-}"
}
