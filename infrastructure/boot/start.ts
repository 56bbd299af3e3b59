// `npm start`: everything in one process. `npm run api`, `npm run projector` and `npm run worker`: one role; any number of each can run.
import './compileCache.ts';

// Aborts at the first signal. Later ones are ignored, because stopping takes bounded time. Loading the program takes a second or two.
const asked = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => asked.abort());

const { runRole } = await import('./main.ts');
await runRole(process.argv[2] ?? 'all', asked.signal);
