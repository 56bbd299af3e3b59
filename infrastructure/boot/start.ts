// `npm start`: everything in one process.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('all');
