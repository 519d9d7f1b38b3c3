// pes: 1 2 4 7
// variants: all
// cflags: -std=c++17
/* rule 15.1, rule 15.2: a C++ program with constructors that wrote globals before
 * initialisation, and objects of its library that live in its data segment. */
#include "check.h"
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {
struct Constructed {
    long value;
    std::vector<int> vector;
    Constructed() : value(42), vector{1, 2, 3} {}
    ~Constructed() { if (value != 4242) std::abort(); }
};
Constructed constructed;
std::map<std::string, int> map{{"one", 1}, {"two", 2}};
std::string text = "a string too long for the small buffer inside the object";
long counter = [] { return 7L; }();
template <typename T> struct Holder { static T object; };
template <typename T> T Holder<T>::object = T(9);
inline long inline_variable = 13;
}

int main()
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    CHECK_EQ(constructed.value, 42);
    CHECK(constructed.vector.size() == 3 && constructed.vector[2] == 3);
    CHECK(map.at("two") == 2);
    CHECK(text.find("inside the object") != std::string::npos);
    CHECK_EQ(counter, 7);
    shmem_barrier_all();
    shmem_long_p(&constructed.value, 100 + me, to);
    shmem_long_p(&counter, 200 + me, to);
    shmem_double_p(&Holder<double>::object, 300 + me, to);
    shmem_long_p(&inline_variable, 400 + me, to);
    shmem_barrier_all();
    int from = (me + npes - 1) % npes;
    CHECK_EQ(constructed.value, 100 + from);
    CHECK_EQ(counter, 200 + from);
    CHECK_EQ(Holder<double>::object, 300 + from);
    CHECK_EQ(inline_variable, 400 + from);
    try {
        throw std::string("thrown");
    } catch (const std::string &caught) {
        CHECK(caught == "thrown");
    }
    text += " and longer";
    map["three"] = 3;
    std::cout << "PE " << me << ": " << text << " " << map.size() << std::endl;
    shmem_finalize();
    constructed.value = 4242; /* destructors run on the same objects */
    return 0;
}
