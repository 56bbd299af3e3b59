// Listens, and is stopped (SIGSTOP) by whoever started it: once its queue is full, the kernel drops what would connect, without a word.
import { type AddressInfo, createServer } from 'node:net';

const server = createServer();
server.listen({ port: 0, host: '0.0.0.0', backlog: 1 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on('disconnect', () => process.exit(0));
