// Makes full garbage collections rare, because requests wait for each. By default, V8 starts one when buffers have grown by 64 MB, whatever
// the size of the heap, and a few bytes that outlive two minor collections keep the whole pool from which they came. At 1,700 charges a
// second, that was one every 3 s, and now it is one in 10 to 20 s. It saves 11 % of Node's CPU (docs/bench-history.md), and takes 80 MB.
import { setFlagsFromString } from 'node:v8';

// Buffers then count with the heap, whose limit grows with what it holds.
setFlagsFromString('--external-memory-accounted-in-global-limit');
Buffer.poolSize = 8_192;
