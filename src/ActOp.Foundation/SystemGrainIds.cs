using System.Text;
using ActOp.Tenants;
using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>Ids that contain a location: system targets of a silo, and observers of a client or silo.</summary>
internal static class SystemGrainIds
{
    private const string SystemPrefix = "sys.";

    /// <summary>The type of all observers.</summary>
    internal static readonly GrainType ObserverType = GrainType.Create(SystemPrefix + "observer");

    /// <summary>The system target called <paramref name="name"/> on <paramref name="silo"/>.</summary>
    internal static GrainId SystemTarget(string name, SiloAddress silo) =>
        GrainId.Create(GrainType.Create(SystemPrefix + name), silo.ToParsableString());

    /// <summary>A new observer of the client or silo <paramref name="owner"/>.</summary>
    internal static GrainId Observer(SiloAddress owner, Guid id) =>
        GrainId.Create(ObserverType, owner.ToParsableString() + "+" + id.ToString("N"));

    /// <summary>The id of a client as a caller.</summary>
    internal static GrainId Client(SiloAddress client) =>
        GrainId.Create(GrainType.Create(SystemPrefix + "client"), client.ToParsableString());

    /// <summary>
    /// The id as a caller of a client that is bound to a tenant: its key has the tenant, as those of grains have, and contains no location.
    /// </summary>
    internal static GrainId Client(SiloAddress client, string tenant) =>
        GrainId.Create(GrainType.Create(SystemPrefix + "client"), TenantKey.Prefix(tenant) + client.ToParsableString());

    /// <summary>True for messages to system targets: they go over the control link, which grain traffic cannot fill.</summary>
    internal static bool IsControl(GrainId id) => IsSystemGrain(id) && !id.Type.AsSpan().SequenceEqual("sys.observer"u8);

    internal static bool IsSystemGrain(GrainId id) => id.Type.AsSpan().StartsWith("sys."u8);

    /// <summary>Gets the node that hosts <paramref name="id"/>, if the id contains it.</summary>
    internal static bool TryGetAddress(GrainId id, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out SiloAddress? address)
    {
        address = null;
        if (!IsSystemGrain(id))
            return false;
        var key = id.Key.AsSpan();
        var plus = key.IndexOf((byte)'+');
        return SiloAddress.TryParse(Encoding.UTF8.GetString(plus < 0 ? key : key[..plus]), out address);
    }
}
