#include "rmx.h"
