// Allowed destinations of cash-outs besides the payer's own document (rule M7a).

import { accountSetting, type StoredValues } from '../kernel/accountSetting.ts';
import type { Mode } from '../kernel/ids.ts';
import type { Problem } from '../kernel/rejection.ts';
import { listOf, nullable, type Shape, text } from '../kernel/serde.ts';
import { isPixKey } from '../pix/pixKey.ts';

// Every settings event holds all settings, and an event must stay below 32 kB.
const KEYS_MAX = 300;
const KEY_LENGTH_MAX = 77;

const name = 'cashoutDestinations';
const list = listOf(text());
/** Duplicate keys are merged. */
const shape: Shape<readonly string[]> = { ...list, decode: (value, path) => [...new Set(list.decode(value, path))] };

const problems = (keys: readonly string[]): readonly Problem[] => {
  const wrong = keys.find((key) => !isPixKey(key));
  if (keys.length > KEYS_MAX) return [{ param: name, message: `must be at most ${KEYS_MAX} Pix keys` }];
  return wrong === undefined
    ? []
    : [{ param: name, message: `must be Pix keys as the directory holds them, not "${wrong}"` }];
};

const WORDS: { readonly [word: string]: readonly string[] | null } = { any: null, none: [] };

/** Pix keys that cash-outs may go to; null allows any key. An empty list restricts live mode only. */
export const cashoutDestinations = accountSetting<readonly string[] | null>({
  name,
  initial: [],
  shape: nullable(shape),
  isOwners: true,
  schema: {
    type: ['array', 'null'],
    items: { type: 'string', maxLength: KEY_LENGTH_MAX },
    maxItems: KEYS_MAX,
    description:
      'Pix keys that live cash-outs may go to besides the payer’s own document; null allows any key. New accounts have an empty list.',
  },
  problems: (keys) => problems(keys ?? []),
  options: {
    'cashout-destinations': {
      description:
        'Pix keys, separated by commas, that live cash-outs may go to besides the payer’s document; or `any` or `none`',
      read: (typed) => (Object.hasOwn(WORDS, typed) ? WORDS[typed] : typed.split(',').map((key) => key.trim())),
    },
  },
  line: (keys) => ['cash-out destinations', keys === null ? 'any' : keys.join(', ') || 'none'],
});

/** Returns the allowed Pix keys in this mode besides the payer's own document, or null if any key is allowed. */
export const allowedDestinations = (settings: StoredValues, mode: Mode): readonly string[] | null => {
  const keys = cashoutDestinations.of(settings);
  return mode === 'test' && keys?.length === 0 ? null : keys;
};
