namespace Orleans;

/// <summary>Called when a client has lost its last connection to the cluster.</summary>
public delegate void ConnectionToClusterLostHandler(object? sender, EventArgs e);
