using HaloPresence.Options;

namespace HaloPresence.Children;

/// <summary>Where one silo process listens, and what it runs.</summary>
/// <param name="Index">Index of the silo, from 0; 0 is the primary.</param>
/// <param name="Port">Port for other silos.</param>
/// <param name="Gateway">Port for clients.</param>
/// <param name="Primary">Silo port of the primary.</param>
/// <param name="Options">The experiment.</param>
/// <param name="Journal">File for the begins and ends of activations; with one, the silo also says which views it adopts.</param>
/// <param name="Lease">Seconds after which a silo that cannot confirm its membership pauses its grains; 0 for never.</param>
public sealed record SiloArguments(int Index, int Port, int Gateway, int Primary, HaloOptions Options, string? Journal = null, double Lease = 0);
