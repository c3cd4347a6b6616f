namespace Orleans.Configuration;

/// <summary>The silo itself.</summary>
public class SiloOptions
{
    /// <summary>The silo's name in logs and the membership table; null until it is set; the silo then makes one up.</summary>
    public string SiloName { get; set; } = null!;
}
