// The HTTP module for personal data.
import { httpModule } from '../../kernel/httpModule.ts';
import { PRIVACY_ROUTES } from './privacy.ts';

export const privacy = httpModule({ name: 'privacy', chapters: [], routes: PRIVACY_ROUTES });
