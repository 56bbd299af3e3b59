// Listens on a port until its parent stops it with SIGSTOP. Once its queue is full, the kernel silently drops new connections.
import { type AddressInfo, createServer } from 'node:net';

const server = createServer();
server.listen({ port: 0, host: '0.0.0.0', backlog: 1 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on('disconnect', () => process.exit(0));
