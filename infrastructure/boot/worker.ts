// `npm run worker`: reacts to events and does what follows: settlement, deliveries, timers; any number of them.
import { runRole } from './main.ts';

await runRole('worker');
