// Forms of the dashboard's pages. A browser sends the session's cookie with every request to Quita, whichever page caused it. So a change
// also needs the token that only pages of the same session contain, and must not come from a page of another site.
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import express from 'express';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Callers, Principal } from './callers.ts';
import { isSameSecret } from './sameSecret.ts';

/** The fields of a form. */
export interface Form {
  /** Returns the field's trimmed value; empty if it was not sent. */
  text(name: string): string;
  all(name: string): readonly string[];
}

/** The field of the token. */
export const CSRF_FIELD = 'csrf';
export const FORM_BYTES_MAX = 64 * 1024;

/** Returns the token of a session's forms. It can't be guessed without the session's token, and does not reveal it. */
export const csrfTokenOf = (token: string): string =>
  createHash('sha256').update(`quita forms\n${token}`).digest('base64url');

const parse = express.text({ limit: FORM_BYTES_MAX, type: () => true });

export const formOf = (fields: URLSearchParams): Form => ({
  text: (name) => (fields.get(name) ?? '').trim(),
  all: (name) => fields.getAll(name),
});

export const HAS_NUL = reject('invalid_request', 'A field contains the character U+0000.');

export const readForm = async (req: Request, res: Response): Promise<{ readonly body: Form } | Rejection> => {
  if (!req.is('application/x-www-form-urlencoded'))
    return reject('unsupported_media_type', 'The body must be application/x-www-form-urlencoded.');
  const fault = await new Promise<unknown>((resolve) => parse(req, res, resolve));
  if (fault !== undefined) {
    res.setHeader('Connection', 'close'); // doesn't wait for the rest
    return (fault as { type?: string }).type === 'entity.too.large'
      ? reject('payload_too_large', `The body is larger than ${FORM_BYTES_MAX} bytes.`)
      : reject('invalid_request', 'The body could not be read.');
  }
  const text = typeof req.body === 'string' ? req.body : '';
  // PostgreSQL can't store it, and no form field can contain it.
  if (/%00|\0/.test(text)) return HAS_NUL;
  return { body: formOf(new URLSearchParams(text)) };
};

const FOREIGN = reject('csrf_rejected', 'The form was sent from another site.');
const STALE = reject(
  'csrf_rejected',
  'The page belongs to another session: you have signed in again, perhaps as somebody else. Nothing was changed.',
);

/** Returns whether a page of another site sent the request. Programs send neither header. */
const isFromElsewhere = ({ headers }: Request): boolean => {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
};

/** Returns the rejection of a form that another site or a page of another session sent, or null. */
export const forgeryOf = (req: Request, form: Form, caller: Callers[Principal]): Rejection | null => {
  if (isFromElsewhere(req)) return FOREIGN;
  const csrf = caller !== null && 'csrf' in caller ? caller.csrf : null;
  return csrf === null || isSameSecret(form.text(CSRF_FIELD), csrf) ? null : STALE;
};
