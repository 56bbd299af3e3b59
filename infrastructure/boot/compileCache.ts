// Keeps what was compiled for the next start, which then takes 1.3 s of CPU instead of 2.1: types are stripped and modules compiled
// once. An entry point imports this and nothing else: what stands beside it would be compiled before.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Beside the packages: whoever may write there may change the program anyway. Where we may not, nothing is kept and all is well.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/quita'));
