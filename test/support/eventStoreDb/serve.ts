// The test server as a process of its own, for whole-system tests: prints its connection string, ends with SIGTERM
// and with whoever started it. Its options are its argument, as JSON.
import { type EventStoreDbOptions, EventStoreDbServer } from './server.ts';

const server = await EventStoreDbServer.start(JSON.parse(process.argv[2] ?? '{}') as EventStoreDbOptions);
process.stdout.write(`${server.connectionString}\n`);
const end = (): void => void server.stop().then(() => process.exit(0));
process.once('SIGTERM', end);
process.stdin.once('end', end).resume();
