// Members of an account change their own password and second factor, whatever their role.
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { modeParam, ofMember, PAGE, pageQuery, REDIRECT, readerOf, redirect, shownPage } from '../page.ts';
import { settingsContent } from './account.ts';
import { beginEnrolment, changeOwnPassword, confirmEnrolment, SETTINGS as SECTION } from './signIn.ts';

const acting = { ...ofMember, params: modeParam, query: pageQuery, body: FORM } as const;

const passwordRoute = route('POST', '/dashboard/{mode}/settings/password', {
  ...acting,
  operationId: 'changePasswordFromPage',
  summary: 'Change the password of the current user',
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const refused = await changeOwnPassword(reader, context.body, context);
    if (refused === null) return redirect(reader.to(SECTION), 'passwordChanged');
    return isRejection(refused) ? refused : shownPage(422, context, reader, { ...settingsContent(reader), ...refused });
  },
});

const enrolRoute = route('POST', '/dashboard/{mode}/settings/second-factor', {
  ...acting,
  operationId: 'enrolFromPage',
  summary: 'Begin a second factor and show its secret once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const begun = await beginEnrolment(reader, context.body.text('code'));
    return 'problem' in begun
      ? shownPage(422, context, reader, { ...settingsContent(reader), ...begun })
      : shownPage(200, context, reader, begun);
  },
});

const confirmRoute = route('POST', '/dashboard/{mode}/settings/second-factor/confirm', {
  ...acting,
  operationId: 'confirmFromPage',
  summary: 'Confirm a second factor and show the recovery codes once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const done = await confirmEnrolment(reader, context.body.text('code'));
    if (isRejection(done)) return done;
    return shownPage(done.problem === undefined ? 200 : 422, context, reader, done);
  },
});

export const OWN_USER_PAGES = [passwordRoute, enrolRoute, confirmRoute];
