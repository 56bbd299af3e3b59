// Calls operations and records their answers.
import { expect } from 'chai';
import { API_ROUTES } from '../../../http/api/routes.ts';
import type { CallOptions, Reply, TestGateway } from '../../world/gateway.ts';

export type Body = Readonly<Record<string, unknown>>;

export class Story {
  readonly #gateway: TestGateway;
  readonly operations: Record<string, { request?: unknown; responses: Record<string, unknown> }> = {};

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  /** Calls an operation; records the first answer for each status, and the request. */
  async ask<Answer = { id: string }>(
    operationId: string,
    parts: {
      readonly id?: string;
      readonly evidenceId?: string;
      readonly keyId?: string;
      readonly name?: string;
      readonly stream?: string;
      readonly callback?: string;
      readonly month?: string;
      readonly query?: string;
      readonly body?: Body;
      readonly key?: string;
      readonly token?: string;
      /** A PNG instead of a JSON body. */
      readonly image?: Buffer;
    } = {},
  ): Promise<Answer> {
    const route = API_ROUTES.find((each) => each.operationId === operationId);
    if (route === undefined) throw new Error(`no operation ${operationId}`);
    const { id = '', evidenceId = '', keyId = '', name = '', stream = '', callback = '', query = '' } = parts;
    const { body, key, token, image, month = '' } = parts;
    const options: CallOptions = {
      headers: {
        'x-request-id': `example-${operationId}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(image && { 'content-type': 'image/png' }),
      },
      ...(image && { raw: image }),
      ...(body && { body }),
      ...(Object.hasOwn(route.headers, 'Idempotency-Key') && { idempotencyKey: key ?? `order-of-${operationId}` }),
    };
    const reply: Reply<unknown> = await this.#gateway.call(
      route.method,
      route.path
        .replace('{id}', id)
        .replace('{evidence_id}', evidenceId)
        .replace('{keyId}', keyId)
        .replace('{name}', name)
        .replace('{stream}', stream)
        .replace('{callback}', callback)
        .replace('{month}', month) + query,
      options,
    );
    expect(reply.status, `${operationId} ${reply.text}`).to.be.oneOf([200, 201, 202, 204]);
    const kept = this.operations[operationId] ?? { responses: {} };
    this.operations[operationId] = kept;
    if (body && route.body.kind === 'json' && kept.request === undefined) kept.request = body;
    if (reply.headers.get('content-type')?.startsWith('application/json')) kept.responses[reply.status] ??= reply.body;
    return reply.body as Answer;
  }
}
