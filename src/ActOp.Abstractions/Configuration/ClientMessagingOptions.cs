using System.Net;
using System.Net.Sockets;

namespace Orleans.Configuration;

/// <summary>How a client sends calls and from where.</summary>
public class ClientMessagingOptions : MessagingOptions
{
    /// <summary>The default of <see cref="ClientSenderBuckets"/>.</summary>
    public const int DEFAULT_CLIENT_SENDER_BUCKETS = 8192;

    /// <summary>The default of <see cref="PreferredFamily"/>.</summary>
    public const AddressFamily DEFAULT_PREFERRED_FAMILY = AddressFamily.InterNetwork;

    /// <summary>How many groups of grains keep to one connection each. Default: 8192.</summary>
    public int ClientSenderBuckets { get; set; } = DEFAULT_CLIENT_SENDER_BUCKETS;

    /// <summary>The client's own address; found out when null.</summary>
    public IPAddress? LocalAddress { get; set; }

    /// <summary>The network interface whose address is used; any when null.</summary>
    public string? NetworkInterfaceName { get; set; }

    /// <summary>The kind of address that is used. Default: IPv4.</summary>
    public AddressFamily PreferredFamily { get; set; } = DEFAULT_PREFERRED_FAMILY;
}
