// Appends to the log of a checkout, in a process of its own. The arguments are the checkout’s root and a connection string. It needs only
// the checkout’s module that opens the event store, and its port.
import { join } from 'node:path';
import { appendRound, appendTo } from './append.ts';

const [root = '', connectionString = ''] = process.argv.slice(2);
type Opening = typeof import('../../infrastructure/eventStore/postgres/store.ts');
const { openPostgresEventStore } = (await import(join(root, 'infrastructure/eventStore/postgres/store.ts'))) as Opening;
const append = appendTo(await openPostgresEventStore({ connectionString }));

process.on('message', ({ durationMs }: { durationMs: number }) => {
  void appendRound(append, durationMs).then((perSecond) => process.send?.({ perSecond }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({});
