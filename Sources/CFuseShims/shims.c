#include "CFuseShims.h"
