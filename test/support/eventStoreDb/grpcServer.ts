// The gRPC server behind the front, from one start to the next stop. It can end all calls like a server that stops gracefully.
import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { Server, ServerCredentials, ServerInterceptingCall, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { append } from './append.ts';
import { batchAppend } from './batchAppend.ts';
import { softDelete, tombstone } from './deleting.ts';
import { clusterInfo, supportedMethods } from './discovery.ts';
import type { Endpoint } from './errors.ts';
import { GossipService, ServerFeaturesService, StreamsService, UsersService } from './messages.ts';
import type { Node } from './node.ts';
import { read } from './reading.ts';
import { usersOf } from './users.ts';

export interface Tls {
  /** In PEM. */
  readonly key: string;
  readonly cert: string;
}

/** A larger message ends its call with RESOURCE_EXHAUSTED. */
const MESSAGE_BYTES_MAX = 17 * 1024 * 1024;

export class GrpcServer {
  readonly #calls = new Set<ServerHttp2Stream>();
  readonly #server: Server;

  constructor(node: Node, self: () => Endpoint) {
    this.#server = new Server({
      'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
      'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
      interceptors: [(_method, call) => this.#track(call)],
    });
    this.#server.addService(StreamsService, {
      read: read(node),
      append: append(node),
      batchAppend: batchAppend(node),
      delete: softDelete(node),
      tombstone: tombstone(node),
    });
    this.#server.addService(UsersService, usersOf(node));
    this.#server.addService(GossipService, { read: clusterInfo(node.faults, self) });
    this.#server.addService(ServerFeaturesService, { getSupportedMethods: supportedMethods(node.faults) });
  }

  /** Listens on loopback, for the front only. Returns the port. */
  listen(tls: Tls | null): Promise<number> {
    const credentials =
      tls === null
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }]);
    return new Promise((resolve, reject) =>
      this.#server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port))),
    );
  }

  /** Ends every call with RST_STREAM code 0 and no status, then every connection. */
  async shutDownGracefully(): Promise<void> {
    const reset = [...this.#calls].map(async (stream) => {
      stream.destroy();
      if (!stream.closed) await once(stream, 'close');
    });
    await Promise.all(reset);
    await new Promise<void>((resolve, reject) =>
      this.#server.tryShutdown((error) => (error ? reject(error) : resolve())),
    );
  }

  kill(): void {
    this.#server.forceShutdown();
  }

  /** Tracks the HTTP/2 streams, because grpc-js hides them and can’t send the status of a stopping server. */
  #track(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
    this.#calls.add(stream);
    stream.once('close', () => this.#calls.delete(stream));
    return new ServerInterceptingCall(call);
  }
}
