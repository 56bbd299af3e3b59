// Sends bodies to both creation routes, and checks rejections.
import { expect } from 'chai';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { newKey, type Reply, type TestGateway } from './gateway.ts';
import { expectError, paramsOf } from './http.ts';

export const ROUTES = ['/v1/charges', '/v1/pix/charges'] as const;
export type Body = Record<string, unknown>;
export const VALID: Body = { amount: 1234, payment_method: 'pix' };

export const chargeSender = (opened: () => TestGateway) => {
  const send = (body: unknown, path: string = ROUTES[0], idempotencyKey = newKey()) =>
    opened().post<Body>(path, undefined, {
      raw: typeof body === 'string' ? body : JSON.stringify(body),
      idempotencyKey,
      headers: { 'content-type': 'application/json' },
    });

  /** Expects a rejection with this code, no written event, and a reusable idempotency key (K5). */
  const refuses = async (
    body: unknown,
    code: ErrorCode,
    param: string | undefined,
    params: readonly string[] = param ? [param] : [],
  ) => {
    const { store } = opened().storage;
    for (const path of ROUTES) {
      const key = newKey();
      const head = await store.head();
      const details = expectError(await send(body, path, key), 400, code, param);
      expect(paramsOf(details)).to.deep.equal(params);
      expect(await store.head(), 'something was written').to.equal(head);
      const after = await send(VALID, path, key);
      expect([after.status, after.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    }
  };

  const takes = async (body: unknown, path: string = ROUTES[0]): Promise<Reply<Body>> => {
    const reply = await send(body, path);
    expect(reply.status, reply.text).to.equal(201);
    return reply;
  };
  return { send, refuses, takes };
};
