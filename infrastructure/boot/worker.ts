// `npm run worker`: reacts to events and does what follows: settlement, deliveries, timers; any number of them.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('worker');
