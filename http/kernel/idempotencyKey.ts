// The Idempotency-Key header of a financial write (rule K6).
import type { Request } from 'express';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import { reject } from '../../domain/kernel/rejection.ts';

const HEADER = { param: 'Idempotency-Key' };
/** 8 to 128 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{8,128}$/;

export const idempotencyKeyOf = (req: Request): string | Rejection => {
  const key = req.headers['idempotency-key'];
  if (key === undefined || key === '')
    return reject('idempotency_key_required', 'The Idempotency-Key header is required.', HEADER);
  if (typeof key !== 'string' || !KEY.test(key))
    return reject(
      'invalid_idempotency_key',
      'The Idempotency-Key must be 8 to 128 printable ASCII characters.',
      HEADER,
    );
  return key;
};
