namespace Orleans.Configuration;

/// <summary>The silos that a client connects to, as a fixed list.</summary>
public class StaticGatewayListProviderOptions
{
    /// <summary>The silos: <c>gwy.tcp://ip:port/generation</c>, where 0 stands for any generation.</summary>
    public List<Uri> Gateways { get; set; } = [];
}
