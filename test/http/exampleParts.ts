// What examples of routes have in common.
import { hash } from 'node:crypto';
import type { CheckedLogo } from '../../application/ports/logos.ts';
import { pngImage } from '../support/images.ts';

export const NO_ID = '0'.repeat(26);
/** The user who logs in. */
export const USER = { email: 'rotas@example.com', password: 'a senha das rotas' };
const IMAGE = pngImage();
export const LOGO: CheckedLogo = { contentType: 'image/png', bytes: IMAGE, sha256: hash('sha256', IMAGE, 'hex') };
