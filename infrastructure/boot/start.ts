// `npm start`: everything in one process. `npm run api`, `npm run projector` and `npm run worker`: one role; any number of each can run.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole(process.argv[2] ?? 'all');
