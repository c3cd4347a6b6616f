using System.Net;
using System.Text;
using ActOp.Calls;
using ActOp.Mesh;
using ActOp.Tenants;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// The secret of a cluster: whoever connects proves in the handshake that it knows it, and so does the other end. It is never sent. It
/// keeps strangers out; it does not encrypt, so who can change what is on the wire can take over a connection (use TLS against that).
/// Configuration section: <c>ActOp:Security</c>.
/// </summary>
public sealed class ClusterSecurityOptions
{
    /// <summary>The least length of a secret in UTF-8 bytes. It should be random: 32 random bytes in Base64 are a good one.</summary>
    public const int MinSecretBytes = 16;

    /// <summary>
    /// The secret between silos, and between clients and silos unless there is a <see cref="ClientSecret"/>. Null (default): none.
    /// </summary>
    public string? Secret { get; set; }

    /// <summary>
    /// The secret between clients and silos, so that clients need not know that of the silos. Who knows only this one is never accepted as
    /// a silo. Null (default): <see cref="Secret"/>, by a key of its own.
    /// </summary>
    public string? ClientSecret { get; set; }

    /// <summary>
    /// The secret between operators and silos: a client that proves it may look at the cluster and change it with the tool <c>actop</c>
    /// (docs/operating.md), and connects as other clients do. Another one than those of silos and clients, because whoever knows it can end
    /// every silo. In the options of a client: it connects as an operator. Null (default): nobody has that role.
    /// </summary>
    public string? OperatorSecret { get; set; }

    /// <summary>As <see cref="AcceptedSecrets"/>, for <see cref="OperatorSecret"/>.</summary>
    public IList<string> AcceptedOperatorSecrets { get; } = [];

    /// <summary>
    /// Of a silo: the secrets of tenants, by their names. A client that proves one is bound to that tenant: to silos, its calls come from
    /// the tenant, and it has no right of management and no streams of its own (docs/tenants.md). All secrets of a tenant are accepted, so
    /// that one can be replaced. Needs <c>AddTenants</c>, and a secret of the other clients, because one without a secret would be bound to
    /// nothing. Empty (default): no client is bound.
    /// </summary>
    public IDictionary<string, IList<string>> TenantSecrets { get; } = new Dictionary<string, IList<string>>(StringComparer.Ordinal);

    /// <summary>
    /// Of a client: the tenant that it is bound to. <see cref="ClientSecret"/> is then one of the <see cref="TenantSecrets"/> of that
    /// tenant on the silos. Null (default): none.
    /// </summary>
    public string? Tenant { get; set; }

    /// <summary>
    /// Secrets that are accepted too, but not used to connect. To replace a secret without a stop: add the new one here on all nodes, then
    /// exchange both on all nodes, then remove the old one.
    /// </summary>
    public IList<string> AcceptedSecrets { get; } = [];

    /// <summary>As <see cref="AcceptedSecrets"/>, for <see cref="ClientSecret"/>.</summary>
    public IList<string> AcceptedClientSecrets { get; } = [];

    /// <summary>
    /// The silo may listen beyond loopback with neither a secret nor TLS: every process that reaches its ports is then trusted as a silo or
    /// as a client. Only for networks in which every process is trusted. Default: no, its start fails.
    /// </summary>
    public bool AllowUnprotected { get; set; }

    /// <summary>Refuses listeners that let in whoever comes.</summary>
    /// <param name="listens">Where the silo listens, and for whom.</param>
    /// <param name="mesh">The secrets.</param>
    /// <param name="isProtected">Whether the transport asks who comes.</param>
    /// <exception cref="OrleansConfigurationException">One is beyond loopback and has no protection.</exception>
    internal void CheckListeners(
        IEnumerable<(EndPoint EndPoint, NodeKind Accepts)> listens, MeshOptions mesh, Func<EndPoint, bool> isProtected)
    {
        foreach (var (endPoint, accepts) in listens)
        {
            var secrets = accepts == NodeKind.Silo ? mesh.SiloSecrets : mesh.ClientSecrets;
            if (AllowUnprotected || secrets.Count > 0 || isProtected(endPoint)
                || endPoint is not IPEndPoint { Address: var address } || IPAddress.IsLoopback(address))
            {
                continue;
            }

            throw new OrleansConfigurationException("The silo would listen at " + endPoint + ", beyond this machine, and trust whoever"
                + " connects as a " + (accepts == NodeKind.Silo ? "silo" : "client") + ". Call UseClusterSecret or UseTls, or set"
                + " ClusterSecurityOptions.AllowUnprotected if every process that reaches it is trusted.");
        }
    }

    /// <summary>Gives the secrets to the mesh.</summary>
    /// <param name="mesh">The options of the mesh.</param>
    /// <param name="isClient">Whether these are the options of a client.</param>
    /// <param name="separatesTenants">Whether the silo refuses calls across tenants.</param>
    /// <exception cref="OrleansConfigurationException">They contradict each other.</exception>
    internal void Apply(MeshOptions mesh, bool isClient, bool separatesTenants)
    {
        mesh.SiloSecrets = Keys(Secret, nameof(Secret), AcceptedSecrets, nameof(AcceptedSecrets));
        mesh.ClientSecrets = ClientSecret is null && AcceptedClientSecrets.Count == 0
            ? mesh.SiloSecrets
            : Keys(ClientSecret ?? Secret, nameof(ClientSecret), AcceptedClientSecrets, nameof(AcceptedClientSecrets));
        mesh.OperatorSecrets = Keys(OperatorSecret, nameof(OperatorSecret), AcceptedOperatorSecrets, nameof(AcceptedOperatorSecrets));
        if (mesh.OperatorSecrets.Any(one => mesh.SiloSecrets.Concat(mesh.ClientSecrets).Any(one.SequenceEqual)))
        {
            throw Wrong(nameof(OperatorSecret),
                "is also a secret of silos or clients: each of them could end every silo. Choose another one.");
        }

        if (isClient)
            BindTo(mesh);
        else
            ApplyTenants(mesh, separatesTenants);
    }

    /// <summary>This client is bound to a tenant.</summary>
    private void BindTo(MeshOptions mesh)
    {
        if (TenantSecrets.Count > 0)
            throw Wrong(nameof(TenantSecrets), "is an option of silos. A client has the secret of its own tenant as its ClientSecret.");
        if (Tenant is null)
            return;
        if (ClientSecret is null)
            throw Wrong(nameof(Tenant), "needs ClientSecret: the secret of this tenant.");
        if (OperatorSecret is not null)
            throw Wrong(nameof(Tenant), "and OperatorSecret exclude each other: an operator is bound to no tenant.");
        CheckName(Tenant);
        mesh.Tenant = Tenant;
        mesh.TenantSecrets = new Dictionary<string, IReadOnlyList<byte[]>> { [Tenant] = [Key(ClientSecret, nameof(ClientSecret))] };
    }

    private void ApplyTenants(MeshOptions mesh, bool separatesTenants)
    {
        if (Tenant is not null)
            throw Wrong(nameof(Tenant), "is an option of clients. A silo has the secrets of all tenants in TenantSecrets.");
        if (TenantSecrets.Count == 0)
            return;
        if (!separatesTenants)
            throw Wrong(nameof(TenantSecrets), "needs AddTenants on the silo builder: without it no call is refused.");
        if (mesh.ClientSecrets.Count == 0)
            throw Wrong(nameof(TenantSecrets), "needs Secret or ClientSecret: a client without a secret would be bound to no tenant.");
        var secrets = new Dictionary<string, IReadOnlyList<byte[]>>(StringComparer.Ordinal);
        foreach (var (tenant, own) in TenantSecrets)
        {
            CheckName(tenant);
            if (own is not { Count: > 0 })
                throw Wrong(nameof(TenantSecrets), "has no secret for the tenant \"" + tenant + "\".");
            secrets[tenant] = [.. own.Select(static secret => Key(secret, nameof(TenantSecrets)))];
        }

        // Who has one may have it twice.
        var owners = secrets.Values.Append([.. mesh.SiloSecrets, .. mesh.ClientSecrets, .. mesh.OperatorSecrets]);
        var all = owners.SelectMany(static own => own.Select(Convert.ToBase64String).Distinct()).ToList();
        if (all.Distinct().Count() < all.Count)
        {
            throw Wrong(nameof(TenantSecrets), "has a secret that another tenant, or silos, other clients or operators have, too: whoever"
                + " knows it could be each of them. Choose another one.");
        }

        mesh.TenantSecrets = secrets;
    }

    private static void CheckName(string tenant)
    {
        try
        {
            TenantKey.Checked(tenant);
        }
        catch (ArgumentException wrong)
        {
            throw Wrong(nameof(Tenant), "or TenantSecrets has a name that no tenant can have. " + wrong.Message);
        }
    }

    private static OrleansConfigurationException Wrong(string option, string what) => new("ClusterSecurityOptions." + option + " " + what);

    private static List<byte[]> Keys(string? first, string name, IList<string> others, string otherName)
    {
        if (first is null)
        {
            return others.Count == 0
                ? []
                : throw Wrong(otherName, "is set, but ClusterSecurityOptions." + name + " is not.");
        }

        return [Key(first, name), .. others.Select(other => Key(other, otherName))];
    }

    private static byte[] Key(string secret, string name)
    {
        var bytes = Encoding.UTF8.GetBytes(secret);
        return bytes.Length >= MinSecretBytes
            ? bytes
            : throw Wrong(name, "must have at least " + MinSecretBytes + " bytes, but one has " + bytes.Length + ".");
    }
}

/// <summary>
/// What the clients of a silo may do beyond calling grains of the application, publishing to streams and having subscriptions of their own.
/// For silos; set the same on all of them, because each checks what it carries out. Configuration section: <c>ActOp:ClientRights</c>.
/// </summary>
public sealed class ClientRightsOptions
{
    /// <summary>
    /// Clients may manage the cluster: call <c>IManagementGrain</c> and <c>IGrainManagementExtension</c>, and see, add and end the stream
    /// subscriptions of others (<c>IStreamSubscriptionManager</c>). Without the right they get an <c>UnauthorizedAccessException</c> at
    /// once. Default: no, because whoever has it can read the keys of all grains and end activations as often as it likes. The silos of
    /// test clusters grant it.
    /// </summary>
    public bool Management { get; set; }

    /// <summary>
    /// Whether a client may call such methods; an operator has proved <see cref="ClusterSecurityOptions.OperatorSecret"/>.
    /// </summary>
    internal bool Allows(Callers callers, bool isOperator) =>
        callers == Callers.Everyone || (callers == Callers.Administrators && (Management || isOperator));
}
