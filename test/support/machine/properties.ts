import fc from 'fast-check';

/**
 * The examples of property tests are the same in every run, so that a red run tells of a change and not of luck.
 * PROPERTY_SEED=random looks elsewhere, and PROPERTY_SEED=N at the examples that a failure named.
 */
const asked = process.env['PROPERTY_SEED'];
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked ?? 20_128) });

export { fc };
