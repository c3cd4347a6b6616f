namespace HaloPresence.Faults;

/// <summary>What <see cref="ActivationCheck"/> found.</summary>
/// <param name="Activations">Activations that were written down.</param>
/// <param name="Grains">Grains that they belong to.</param>
/// <param name="Doubles">Times that a grain was active twice at once.</param>
/// <param name="Texts">The first few of them.</param>
public sealed record ActivationReport(long Activations, long Grains, long Doubles, IReadOnlyList<string> Texts);
