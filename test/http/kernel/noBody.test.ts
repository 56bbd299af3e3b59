// A body on a route that expects none (rule I12).
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { UNCOUNTED } from '../../../http/kernel/admission.ts';
import { bodyReader } from '../../../http/kernel/body.ts';
import type { ValidationContext } from '../../../http/kernel/route.ts';

describe('an unexpected body', () => {
  it('is read and discarded in the background, so that it never counts as late', async () => {
    const headers = { 'content-length': '2' };
    const req = Object.assign(Readable.from([Buffer.from('{}')]), { headers });
    const arrived = once(req, 'end');
    await bodyReader({ kind: 'none' })(
      req as unknown as Request,
      {} as Response,
      UNCOUNTED,
      {} as ValidationContext,
      async () => undefined,
    );
    await arrived;
  });
});
