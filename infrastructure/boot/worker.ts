// `npm run worker`: reacts to events, and runs settlement, deliveries and timers. Any number of these processes can run.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('worker');
