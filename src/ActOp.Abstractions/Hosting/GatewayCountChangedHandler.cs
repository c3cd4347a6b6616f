namespace Orleans;

/// <summary>Called when the number of silos that a client is connected to changes.</summary>
public delegate void GatewayCountChangedHandler(object? sender, GatewayCountChangedEventArgs e);
