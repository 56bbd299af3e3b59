// Sends and removes the logo by plain forms of the settings. The API takes the image itself as the body.
import { LOGO_BYTES_MAX } from '../../../../application/ports/logos.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { bytesOf, type FileForm, skipRest } from '../../../kernel/fileForm.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from '../page.ts';
import { SECTION, settingsContent } from './account.ts';

/** Large enough that even a photo far too large for a logo gets a proper error message. */
export const FORM_WITH_LOGO = { kind: 'files', bytesMax: 16 * 1024 * 1024 } as const;

/** Returns the image in the form; empty without a file. */
export const imageOf = async (body: FileForm): Promise<Buffer> => {
  const file = await body.files.next();
  const image = file.done ? Buffer.of() : await bytesOf(file.value, LOGO_BYTES_MAX + 1);
  await skipRest(body);
  return image;
};

const acting = {
  ...ofMember,
  params: modeParam,
  query: pageQuery,
  refusalOf: unlessManager,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;

/** Changes the logo, or removes it (null), and redirects to the settings. */
const changed = async (
  context: Omit<RouteContext<'member', typeof modeParam, typeof pageQuery>, 'body'>,
  image: Buffer | null,
) => {
  const reader = readerOf(context);
  const { services, tenant, actor, to } = reader;
  const done = await services.changeLogo(tenant.accountId, image, actor);
  if (!isRejection(done)) return redirect(to(SECTION), image === null ? 'logoRemoved' : 'logoChanged');
  return shownPage(422, context, reader, { ...settingsContent(reader), problem: done });
};

const sendRoute = route('POST', '/dashboard/{mode}/settings/logo', {
  ...acting,
  operationId: 'sendLogoFromPage',
  summary: 'Send the logo',
  body: FORM_WITH_LOGO,
  handle: async (context) => changed(context, await imageOf(context.body)),
});

const removeRoute = route('POST', '/dashboard/{mode}/settings/logo/remove', {
  ...acting,
  operationId: 'removeLogoFromPage',
  summary: 'Remove the logo',
  body: FORM,
  handle: (context) => changed(context, null),
});

export const LOGO_PAGES = [sendRoute, removeRoute];
