namespace ActOp.Border.Tests;

/// <summary>One callback of the public surface, how a test comes to it, and what it can do wrong.</summary>
/// <param name="Name">As in the table of record 0055.</param>
/// <param name="Call">Calls what calls it. Gets a key that no other case uses.</param>
/// <param name="Deeds">What it does wrong, one case each.</param>
/// <param name="Types">The public interfaces and delegates that applications implement for it.</param>
internal sealed record Callback(string Name, Func<TroubledSilos, string, Task> Call, Deed[] Deeds, params Type[] Types);
