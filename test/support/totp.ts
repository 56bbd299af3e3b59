// Acts as an authenticator app, and enrolls users.
import { TOTP } from 'otpauth';
import type { TestGateway } from '../world/gateway.ts';

/** Returns the code of a secret, `steps` periods of 30 seconds from now. */
export const codeOf = (secret: string, steps = 0, now: number = Date.now()): string =>
  new TOTP({ secret }).generate({ timestamp: now + steps * 30_000 });

type Headers = Readonly<Record<string, string>>;

export const beginEnrolment = async (gateway: TestGateway, headers: Headers, code?: string): Promise<string> => {
  const body = code === undefined ? {} : { code };
  const begun = await gateway.post<{ secret: string }>('/v1/auth/totp/enroll', body, {
    key: null,
    headers,
    at: gateway.opsUrl,
  });
  if (begun.status !== 200) throw new Error(begun.text);
  return begun.body.secret;
};

/** Enrolls a second factor with the current code, which is then used up. The next code is valid too. */
export const enrol = async (
  gateway: TestGateway,
  headers: Headers,
  now: number = Date.now(),
): Promise<{ readonly secret: string; readonly recoveryCodes: readonly string[] }> => {
  const secret = await beginEnrolment(gateway, headers);
  const done = await gateway.post<{ recoveryCodes: string[] }>(
    '/v1/auth/totp/confirm',
    { code: codeOf(secret, 0, now) },
    { key: null, headers, at: gateway.opsUrl },
  );
  if (done.status !== 200) throw new Error(done.text);
  return { secret, recoveryCodes: done.body.recoveryCodes };
};
