namespace Orleans;

/// <summary>
/// Marks an attribute of a constructor parameter of a grain whose argument is made by an
/// <see cref="Runtime.IAttributeToFactoryMapper{TMetadata}"/> of that attribute.
/// </summary>
public interface IFacetMetadata
{
}

/// <summary>Makes objects.</summary>
public delegate TInstance Factory<out TInstance>();

/// <summary>Makes objects of one parameter.</summary>
public delegate TInstance Factory<in TParam1, out TInstance>(TParam1 param1);

/// <summary>Makes objects of two parameters.</summary>
public delegate TInstance Factory<in TParam1, in TParam2, out TInstance>(TParam1 param1, TParam2 param2);

/// <summary>Makes objects of three parameters.</summary>
public delegate TInstance Factory<in TParam1, in TParam2, in TParam3, out TInstance>(TParam1 param1, TParam2 param2, TParam3 param3);
