// `npm start`: everything in one process.
import { runRole } from './main.ts';

await runRole('all');
