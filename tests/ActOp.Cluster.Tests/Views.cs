using System.Net;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

/// <summary>Views for tests: silo n listens on port 10,000 + n.</summary>
internal static class Views
{
    public static SiloAddress Silo(int n, int generation = 1) => SiloAddress.New(IPAddress.Loopback, 10_000 + n, generation);

    public static Member Active(int n) => new(Silo(n), $"silo-{n}", SiloStatus.Active, null, DeathCause.None);

    public static Member Dead(int n, DeathCause cause) => new(Silo(n), $"silo-{n}", SiloStatus.Dead, null, cause);

    public static View Of(long number, params int[] active) => new(number, active.Select(Active));
}
