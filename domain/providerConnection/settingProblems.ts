// Problems of an operator's settings, except URLs and certificates, which need a parser.
import { isPixKey } from '../pix/pixKey.ts';
import type { ConnectionSettings } from './connection.ts';

export interface SettingProblem {
  /** The name of the setting. */
  readonly param: keyof ConnectionSettings | 'preset' | 'privateKey' | 'clientSecret';
  /** Completes a sentence that starts with the setting. */
  readonly message: string;
}

export const NAME_LENGTH_MAX = 100;
const CLIENT_ID_LENGTH_MAX = 500;
export const ORDER_MAX = 1_000_000;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Returns the first problem, or null. */
export const settingProblem = (settings: ConnectionSettings): SettingProblem | null => {
  const { name, clientId, pixKey, methods, order } = settings;
  if (name.trim() === '' || name.length > NAME_LENGTH_MAX)
    return { param: 'name', message: `must have 1 to ${NAME_LENGTH_MAX} characters` };
  if (clientId.length > CLIENT_ID_LENGTH_MAX || !PRINTABLE.test(clientId))
    return { param: 'clientId', message: `must have 1 to ${CLIENT_ID_LENGTH_MAX} printable ASCII characters` };
  if (!isPixKey(pixKey))
    return { param: 'pixKey', message: 'must be a CPF, a CNPJ, a +55 phone number, an email address or a UUID' };
  if (methods.length === 0 || methods.some((method) => method !== 'PIX'))
    return { param: 'methods', message: 'must be PIX' };
  if (!Number.isInteger(order) || order < 0 || order > ORDER_MAX)
    return { param: 'order', message: `must be a whole number from 0 to ${ORDER_MAX}` };
  return null;
};
