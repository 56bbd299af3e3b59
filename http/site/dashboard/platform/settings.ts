// /dashboard/platform/settings: the operator's own password and second factor. Open before a second factor is enrolled.
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { ENROLMENT } from '../../../kernel/callers.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html } from '../../html.ts';
import { PAGE, pageQuery, REDIRECT, redirect } from '../page.ts';
import { beginEnrolment, changeOwnPassword, confirmEnrolment, SETTINGS, signInPanels } from '../settings/signIn.ts';
import { type Operator, ofOperator, operatorOf, shownToOperator } from './page.ts';

const settingsContent = (operator: Operator) => {
  const { texts, caller, services } = operator;
  const mustEnrol = services.operatorsNeedSecondFactor && !caller.hasSecondFactor;
  return {
    title: texts.platform.sections.settings,
    section: SETTINGS,
    main: html`${mustEnrol ? html`<p class="notice bad" role="status">${texts.platform.settings.enrolFirst}</p>` : null}<div class="narrow">${signInPanels(operator)}</div>`,
  };
};

const ofOwnUser = { ...ofOperator, isBeforeSecondFactor: true, query: pageQuery } as const;
const acting = { ...ofOwnUser, body: FORM } as const;

const settingsRoute = route('GET', ENROLMENT, {
  ...ofOwnUser,
  operationId: 'showOperatorSettings',
  summary: 'Show the operator’s own user',
  responses: { 200: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    return shownToOperator(200, context, operator, settingsContent(operator));
  },
});

const passwordRoute = route('POST', `${ENROLMENT}/password`, {
  ...acting,
  operationId: 'changeOperatorPassword',
  summary: 'Change the operator’s own password',
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const refused = await changeOwnPassword(operator, context.body, context);
    if (refused === null) return redirect(operator.to(SETTINGS), 'passwordChanged');
    if (isRejection(refused)) return refused;
    return shownToOperator(422, context, operator, { ...settingsContent(operator), ...refused });
  },
});

const enrolRoute = route('POST', `${ENROLMENT}/second-factor`, {
  ...acting,
  operationId: 'enrolOperator',
  summary: 'Begin the operator’s second factor and show its secret once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const begun = await beginEnrolment(operator, context.body.text('code'));
    return 'main' in begun
      ? shownToOperator(200, context, operator, begun)
      : shownToOperator(422, context, operator, { ...settingsContent(operator), ...begun });
  },
});

const confirmRoute = route('POST', `${ENROLMENT}/second-factor/confirm`, {
  ...acting,
  operationId: 'confirmOperator',
  summary: 'Confirm the operator’s second factor and show the recovery codes once',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const done = await confirmEnrolment(operator, context.body.text('code'));
    if (isRejection(done)) return done;
    return shownToOperator(done.problem === undefined ? 200 : 422, context, operator, done);
  },
});

export const OPERATOR_SETTINGS_PAGES = [settingsRoute, passwordRoute, enrolRoute, confirmRoute];
